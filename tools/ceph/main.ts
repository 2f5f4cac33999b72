import { parseArgs } from 'node:util';
import { placeOf } from '../cloud/place.ts';
import { StepError } from '../cloud/step.ts';
import type { Shape } from './configuration.ts';
import { down } from './down.ts';
import { status } from './status.ts';
import { up } from './up.ts';

const usage = `A Ceph for tests in the cluster of the cloud on this machine: small, unprivileged, with the users of OpenStack's services.

Usage: node tools/ceph/main.ts COMMAND [options]      (make cloud CEPH=yes brings it up with the cloud)

  up        builds its image (a minute, once), starts it in the namespace ceph; prints how long it took until HEALTH_OK
  status    how it is, and the memory of its daemons; exit code 0: HEALTH_OK, 1: not, 3: none runs
  down      removes it with its data

  --store S          memstore (default: data are gone with the pod) or bluestore (a file on a volume, which stays)
  --monitors N       1 (default) or 3
  --mds              CephFS, too
  --rgw              S3 and Swift at the Service ceph-rgw, too
  --users-in NS      a namespace that gets the ConfigMap ceph and the Secrets ceph-client-..., too; may be repeated
  --dir DIR          the cloud's, as in tools/cloud/main.ts
`;

/** Wrong arguments. */
class UsageError extends Error {}

/** @throws TypeError for what is no option */
function optionsOf(args: string[]) {
  return parseArgs({
    args,
    options: {
      store: { type: 'string', default: 'memstore' },
      monitors: { type: 'string', default: '1' },
      mds: { type: 'boolean', default: false },
      rgw: { type: 'boolean', default: false },
      'users-in': { type: 'string', multiple: true, default: [] },
      dir: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
    allowPositionals: true,
  });
}

/** @throws UsageError */
function shapeOf({ store, monitors, mds, rgw }: ReturnType<typeof optionsOf>['values']): Shape {
  if (store !== 'memstore' && store !== 'bluestore')
    throw new UsageError(`--store ${store}: expected memstore or bluestore`);
  if (monitors !== '1' && monitors !== '3') throw new UsageError(`--monitors ${monitors}: expected 1 or 3`);
  return { store, monitors: monitors === '1' ? 1 : 3, mds, rgw };
}

async function main(): Promise<number> {
  const { values, positionals } = optionsOf(process.argv.slice(2));
  const [command, unexpected] = positionals;
  if (values.help || command === 'help') {
    process.stdout.write(usage);
    return 0;
  }
  if (unexpected !== undefined) throw new UsageError(`${command} takes no argument ${unexpected}`);
  const place = placeOf(values.dir, 0);
  switch (command) {
    case 'up':
      await up(place, shapeOf(values), values['users-in']);
      return 0;
    case 'status':
      return await status(place);
    case 'down':
      await down(place);
      return 0;
    case undefined:
    default:
      throw new UsageError(command === undefined ? 'a command is missing' : `there is no command ${command}`);
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  const wrong = error instanceof UsageError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') === true;
  const told = error instanceof StepError ? error.message : (error as Error).stack;
  process.stderr.write(wrong ? `tools/ceph: ${(error as Error).message}\n\n${usage}` : `\n${told}\n`);
  process.exitCode = wrong ? 2 : 1;
}
