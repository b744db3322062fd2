/**
 * Where nearly all objects that a piece of code makes outlive two collections, V8 has it make them among the old ones
 * from then on. With hundreds of calls under way in each pass, an engine that answers threads soon makes commands and
 * answers there, which lie as garbage until a major collection and keep alive what they name: two to three times as
 * much is moved by the collector (measured).
 */
import { setFlagsFromString } from 'node:v8';

/** Has every object of this process begin among the young ones; to be called before much is compiled. */
export function makeObjectsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
