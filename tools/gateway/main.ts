import { parseArgs } from 'node:util';
import { placeOf } from '../cloud/place.ts';
import { StepError } from '../cloud/step.ts';
import { install, remove } from './installation.ts';

const usage = `Gateway API for the cloud on this machine: Envoy Gateway with Envoy, and a Gateway whose certificate it signs itself.

Usage: node tools/gateway/main.ts COMMAND [options]      (make test-cloud-gateway does all of it)

  up        builds Envoy Gateway (five minutes, once), installs it, makes the Gateway openstack in the namespace gateway;
            a control plane uses it with spec.gatewayRef: { name: openstack, namespace: gateway }
  down      removes it, and Gateway API itself

  --domain D     the certificate is for *.D (default: openstack.local, that of a control plane without publicDomain)
  --dir DIR      the cloud's, as in tools/cloud/main.ts

Needs Go and pip on the machine, and the cluster of tools/cloud/main.ts up.
`;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: {
      domain: { type: 'string', default: 'openstack.local' },
      dir: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
    allowPositionals: true,
  });
  const [command] = positionals;
  if (values.help || command === 'help') {
    process.stdout.write(usage);
    return 0;
  }
  const place = placeOf(values.dir, 0);
  if (command === 'up') await install(place, values.domain);
  else if (command === 'down') await remove(place);
  else {
    process.stderr.write(
      `tools/gateway: ${command === undefined ? 'a command is missing' : `there is no command ${command}`}\n\n${usage}`,
    );
    return 2;
  }
  return 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  const wrong = (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') === true;
  const told = error instanceof StepError || wrong ? (error as Error).message : (error as Error).stack;
  process.stderr.write(`\n${told}\n${wrong ? `\n${usage}` : ''}`);
  process.exitCode = wrong ? 2 : 1;
}
