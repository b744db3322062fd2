/** What of a fact must not be shown to whoever only looks: session keys and the seeds of draws open doors. */
const SECRET_FIELDS = new Set(['sessionKey', 'seed']);

/** The JSON text of a fact's data with *** in place of its secrets, however deep they lie. */
export function maskSecrets(data: string): string {
  return JSON.stringify(JSON.parse(data, (name, value: unknown) => (SECRET_FIELDS.has(name) ? '***' : value)));
}
