/** What every load by autocannon has in common: it looks more often than once a second whether its time is up. */
export const CANNON = { sampleInt: 100 } as const;
