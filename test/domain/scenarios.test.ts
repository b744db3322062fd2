/** The scenarios of all rules on the state of an event: without HTTP, journal and timers. */
import { testScenarios } from '../scenarios/all.ts';
import { stateDriver } from '../scenarios/state-driver.ts';

testScenarios(stateDriver);
