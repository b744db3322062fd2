/** Answers buyers for one service after another: the entry of the threads of `kept-threads.ts`. */
import { parentPort, type MessagePort } from 'node:worker_threads';
import { answerBuyers } from '#service/buyers-thread.ts';
import type { ThreadData } from '#service/thread-messages.ts';

parentPort!.on('message', ({ data, port }: { readonly data: ThreadData; readonly port: MessagePort }) => {
  void answerBuyers(data, port);
});
