import { existsSync } from 'node:fs';
import { kubectl } from '../cloud/kubectl.ts';
import type { Place } from '../cloud/place.ts';
import { StepError } from '../cloud/step.ts';
import { namespace, selector } from './names.ts';

/** @throws StepError where no node runs */
export function requireCluster({ kubeconfig, kubernetes }: Place): void {
  if (!existsSync(kubeconfig))
    throw new StepError(`no node runs in ${kubernetes}: make cloud brings one up, or say with --dir where it is`);
}

/** What the program ceph prints, as the administrator, beside monitor a. @throws StepError with its words */
export async function ceph(place: Place, argv: readonly string[]): Promise<string> {
  const command = ['ceph', '--connect-timeout', '10', ...argv];
  const printed = await kubectl(place, ['-n', namespace, 'exec', 'statefulset/ceph', '-c', 'mon', '--', ...command]);
  return printed.trim();
}

interface Pod {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly initContainers?: readonly { readonly name: string; readonly restartPolicy?: string }[];
    readonly containers: readonly { readonly name: string }[];
  };
}

/** Resident memory of each daemon. */
export async function memory(place: Place): Promise<{ daemon: string; mebibytes: number }[]> {
  const running = [
    '-n',
    namespace,
    'get',
    'pods',
    '-l',
    selector,
    '--field-selector=status.phase=Running',
    '-o',
    'json',
  ];
  const { items } = JSON.parse(await kubectl(place, running)) as { items: Pod[] };
  const daemons = items.flatMap(({ metadata, spec }) =>
    [...(spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always'), ...spec.containers].map(
      ({ name }) => ({ pod: metadata.name, name, monitor: metadata.labels['tools-ceph/monitor'] }),
    ),
  );
  return await Promise.all(
    daemons.map(async ({ pod, name, monitor }) => {
      // dumb-init is the first process, the daemon its child.
      const command = ['ps', '--ppid', '1', '-o', 'rss='];
      const printed = await kubectl(place, ['-n', namespace, 'exec', pod, '-c', name, '--', ...command]);
      const [kibibytes] = printed.trim().split('\n');
      return { daemon: name === 'mon' ? `mon.${monitor}` : name, mebibytes: Math.round(Number(kibibytes) / 1024) };
    }),
  );
}
