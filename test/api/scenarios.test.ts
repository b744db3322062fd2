/** The scenarios of all rules over HTTP. */
import { serviceWith } from '../fixtures/service.ts';
import { testScenarios } from '../scenarios/all.ts';
import { httpDriver } from '../scenarios/http-driver.ts';

const service = serviceWith([]);

testScenarios(httpDriver(() => service));
