/** `holdfast gate`: runs a hall's own machine; see `src/gate/serve.ts`. */
import { serveGate } from '#gate/serve.ts';
import { DATA_OPTION, WrongUse, type CliCall, type CliCommand, type ExitCode } from '../terminal/command.ts';

export const command: CliCommand = {
  usage:
    'gate --upstream URL --token-file FILE [--data DIR] [--host HOST] [--port PORT] [--tls-cert FILE --tls-key FILE]',
  description: [
    "Runs a hall's own machine: its stations scan here, with and without the network to the service. It needs the service once, " +
      'for the first whole feed; later it starts and works without, and sends what was scanned when the service is back.',
    'The token is of a station of kind GATE, which the operators of the service make. Stations of the event are good at the gate: ' +
      'their devices are paired at its own address. Without https, devices other than this machine have no camera and no offline work.',
    'Logs JSON lines on stdout; the line with "msg":"ready" has the address. LOG_LEVEL, TRUST_PROXY, FREE_SPACE_MIN_MB, ' +
      'PRUNE_EVERY_HOURS and SERVER_TIMING are read from the environment as serve does. A certificate authority of your own, for an ' +
      'upstream with https, is named by NODE_EXTRA_CA_CERTS.',
    "Exit codes as those of serve; 2 also where the token is no gate's, or the data folder is of something else.",
  ],
  options: [
    { name: 'upstream', value: 'URL', help: 'the public address of the service' },
    { name: 'token-file', value: 'FILE', help: 'a file with the token of the gate' },
    DATA_OPTION,
    { name: 'host', value: 'HOST', help: 'the address to listen on (default: 127.0.0.1)' },
    { name: 'port', value: 'PORT', help: 'the port to listen on (default: 8090)' },
    { name: 'tls-cert', value: 'FILE', help: 'a certificate with its chain, as PEM: the gate then speaks https' },
    { name: 'tls-key', value: 'FILE', help: 'its private key, as PEM' },
  ],
  positionals: { min: 0, max: 0 },
  examples: [
    {
      line: 'holdfast gate --upstream https://tickets.example --token-file gate.token --data /srv/gate',
      does: 'serves the hall at http://127.0.0.1:8090',
    },
  ],
  async run(call) {
    await serveGate(
      {
        upstream: required(call, 'upstream'),
        tokenFile: required(call, 'token-file'),
        data: call.text('data'),
        host: call.text('host'),
        port: call.text('port'),
        tlsCert: call.text('tls-cert'),
        tlsKey: call.text('tls-key'),
      },
      call.environment,
    );
    return new Promise<ExitCode>(() => {});
  },
};

function required(call: CliCall, name: string): string {
  const text = call.text(name);
  if (text === null) throw new WrongUse(`--${name} is missing`);
  return text;
}
