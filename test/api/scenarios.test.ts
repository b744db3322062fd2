/** The scenarios of all rules over HTTP. */
import { after, before } from 'node:test';
import { openService, type TestService } from '../fixtures/service.ts';
import { testScenarios } from '../scenarios/all.ts';
import { httpDriver } from '../scenarios/http-driver.ts';

let service: TestService;
before(async () => {
  service = await openService();
});
after(() => service.close());

testScenarios(httpDriver(() => service));
