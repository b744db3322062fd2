#!/usr/bin/env node
/** What `npm start` runs: the service; with --demo also demo events and what to open first. */
import { keepCompiledModules } from '#service/v8.ts';

keepCompiledModules();
const { serve } = await import('#service/serve.ts');
await serve({ demo: process.argv.includes('--demo') });
