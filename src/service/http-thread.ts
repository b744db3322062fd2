/** The entry of a thread that answers the requests of buyers (`buyers-thread.ts`). */
import { parentPort, workerData } from 'node:worker_threads';
import { keepCompiledModules } from './v8.ts';
import type { ThreadData } from './thread-messages.ts';

keepCompiledModules();
const { answerBuyers } = await import('./buyers-thread.ts');
const { compileAheadSoon } = await import('#http/protocol/validation.ts');
await answerBuyers(workerData as ThreadData, parentPort!);
compileAheadSoon();
