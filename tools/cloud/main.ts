import { parseArgs } from 'node:util';
import { down } from './down.ts';
import { placeOf } from './place.ts';
import { sampleNamed, sampleNames } from './sample.ts';
import { shell } from './shell.ts';
import { status } from './status.ts';
import { StepError } from './step.ts';
import { up } from './up.ts';

const usage = `A whole cloud on this machine: a real Kubernetes, the operator in a pod, real OpenStack processes, and a server.

Usage: node tools/cloud/main.ts COMMAND [options]      (make cloud, make cloud-shell, make cloud-status, make cloud-down)

  up        brings it up, as far as it is not; boots a server, where there is a Ceph with a volume; prints the
            endpoints
  status    what runs; --json for programs
  shell     a shell (or: shell -- COMMAND ...) in which kubectl and openstack reach the cloud by its names
  down      ends it and leaves the machine as it was; images and compiled programs stay cached

  --dir DIR      where credentials and logs are kept (default: ~/.cache/openstack-operator/cloud)
  --instance N   which of ten sets of addresses the node takes, 0 to 9 (default: 0); another cloud beside this one needs
                 another DIR and another N
  --nodes N      up: how many nodes, 1 to 9 (default: 1): each with guests, and tunnels between them
  --monitors N   up: how many monitors the Ceph has, 1 (default) or 3
  --no-server    up: stop when the control plane is Ready
  --sample NAME  up: which control plane of config/samples it is: ${sampleNames.join(', ')} (default: minimal); for
                 one that refers to Ceph there is a Ceph beside it (tools/ceph). The pods of full request more than two
                 cores have: on such a machine they stay Pending

Needs root on Debian 12, 2 cores, 8 GiB of memory and 15 GiB of disk. No hardware virtualization: servers are emulated.
`;

/** Wrong arguments. */
class UsageError extends Error {}

/** @throws TypeError for what is no option */
function optionsOf(args: string[]) {
  return parseArgs({
    args,
    options: {
      dir: { type: 'string' },
      json: { type: 'boolean', default: false },
      instance: { type: 'string', default: '0' },
      nodes: { type: 'string', default: '1' },
      monitors: { type: 'string', default: '1' },
      'no-server': { type: 'boolean', default: false },
      sample: { type: 'string', default: 'minimal' },
      help: { type: 'boolean', short: 'h', default: false },
    },
    allowPositionals: true,
  });
}

async function main(): Promise<number> {
  const [command, ...rest] = process.argv.slice(2);
  const { values, positionals } = optionsOf(rest);
  if (!/^[0-9]$/.test(values.instance)) throw new UsageError(`--instance ${values.instance}: expected 0 to 9`);
  if (!/^[1-9]$/.test(values.nodes)) throw new UsageError(`--nodes ${values.nodes}: expected 1 to 9`);
  if (!/^[13]$/.test(values.monitors)) throw new UsageError(`--monitors ${values.monitors}: expected 1 or 3`);
  if (!sampleNames.includes(values.sample)) {
    throw new UsageError(`--sample ${values.sample}: expected one of ${sampleNames.join(', ')}`);
  }
  const place = placeOf(values.dir, Number(values.instance));
  if (values.help || command === '--help' || command === '-h' || command === 'help') {
    process.stdout.write(usage);
    return 0;
  }
  const [unexpected] = command === 'shell' ? [] : positionals;
  if (unexpected !== undefined) throw new UsageError(`${command} takes no argument ${unexpected}`);
  switch (command) {
    case 'up':
      await up(place, {
        server: !values['no-server'],
        sample: sampleNamed(values.sample),
        nodes: Number(values.nodes),
        monitors: values.monitors === '3' ? 3 : 1,
      });
      return 0;
    case 'status':
      return await status(place, { json: values.json });
    case 'shell':
      return await shell(place, positionals);
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
  process.exitCode = report(error);
}

/** Says what went wrong; gives the exit code: 2 wrong arguments, 1 everything else. */
function report(error: unknown): number {
  const wrong = error instanceof UsageError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') === true;
  if (wrong) {
    process.stderr.write(`tools/cloud: ${(error as Error).message}\n\n${usage}`);
    return 2;
  }
  const unexpected = error instanceof Error ? error.stack : String(error);
  process.stderr.write(`\n${error instanceof StepError ? error.message : unexpected}\n`);
  return 1;
}
