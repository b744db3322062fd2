import { MemoryObjects } from '#persistence/memory/objects.ts';
import { describeObjects } from './objects.ts';

describeObjects('Objects in memory', () => Promise.resolve(new MemoryObjects()));
