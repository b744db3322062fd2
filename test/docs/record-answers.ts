/**
 * Sends every example of the reference to a fresh demo service and writes what it answers to `src/docs/answers.json`.
 */
import { writeFileSync } from 'node:fs';
import { openService, SECOND } from '../fixtures/service.ts';
import { EXAMPLES, exampleKeys, sendRefused, sendWithSteps, shortened, type Answer } from './send-examples.ts';

/** The key of the answer that is an error. */
const REFUSED = 'refused';

const service = await openService({ demo: true, environment: EXAMPLES });
try {
  const answers: Record<string, Answer> = {};
  for (const key of exampleKeys) {
    const { status, body } = await sendWithSteps(service, key);
    const text = JSON.stringify(shortened(body)).replaceAll(service.publicUrl, 'http://127.0.0.1:8080');
    answers[key] = { status, body: JSON.parse(text) as unknown };
    service.wait(2 * SECOND);
  }
  answers[REFUSED] = await sendRefused(service);
  writeFileSync(new URL('../../src/docs/answers.json', import.meta.url), JSON.stringify(answers));
} finally {
  await service.close();
}
