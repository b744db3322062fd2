/** The memory that a process has in use. */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Objects that others keep alive are found garbage one collection later. */
const COLLECTIONS = 4;

/**
 * Bytes of data, on the heap and outside of it, without garbage and without compiled code, whose size depends on when
 * the compiler had time.
 */
export function dataBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let i = 0; i < COLLECTIONS; i += 1) collect();
  const spaces = getHeapSpaceStatistics().filter(({ space_name }) => !/code|trusted/.test(space_name));
  return spaces.reduce((sum, { space_used_size }) => sum + space_used_size, process.memoryUsage().external);
}
