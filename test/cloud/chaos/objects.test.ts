import { afterAll, beforeAll, describe, test } from 'vitest';
import { program } from '../kubernetes.ts';
import { ours } from '../pods.ts';
import { until } from '../until.ts';
import { chaos } from './cloud.ts';
import { type Chaos, printRecoveries, recovers } from './recovery.ts';

let cloud: Chaos;
beforeAll(async () => {
  cloud = await chaos();
}, 900_000);
afterAll(printRecoveries);

interface Owned {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string };
}

async function list<T extends Owned>(kind: string, ...selection: readonly string[]): Promise<T[]> {
  const text = await program('kubectl', 'get', kind, '--all-namespaces', ...selection, '-o', 'json');
  return (JSON.parse(text) as { items: T[] }).items;
}

/** What runs, and so has to come back when it is taken away; old revisions' need not. */
async function mountedConfigMaps(): Promise<Set<string>> {
  type Pod = Owned & { spec: { volumes?: { configMap?: { name: string } }[] }; status: { phase: string } };
  const pods = await list<Pod>('pods', '-l', ours, '--field-selector=status.phase=Running');
  return new Set(pods.flatMap(({ spec }) => (spec.volumes ?? []).flatMap(({ configMap }) => configMap?.name ?? [])));
}

/** Deletes all objects of a kind at once, and waits until each is there anew. */
async function deleteAll(kind: string): Promise<void> {
  const mounted = kind === 'configmaps' ? await mountedConfigMaps() : undefined;
  const before = (await list(kind, '-l', ours)).filter(({ metadata }) => mounted?.has(metadata.name) !== false);
  if (before.length === 0) throw new Error(`the cloud has no ${kind}`);
  await program('kubectl', 'delete', kind, '--all-namespaces', '-l', ours, '--wait=false');
  await areNew(kind, before);
}

async function areNew(kind: string, before: readonly Owned[]): Promise<void> {
  const missing = async () => {
    const now = await list(kind);
    return before.filter(
      ({ metadata: { name, namespace, uid } }) =>
        !now.some(({ metadata }) => metadata.name === name && metadata.namespace === namespace && metadata.uid !== uid),
    );
  };
  await until({
    what: `the ${kind} to be made anew`,
    seconds: 600,
    probe: async () => ((await missing()).length === 0 ? true : undefined),
    explain: async () => (await missing()).map(({ metadata }) => metadata.name).join(', '),
  });
}

describe('the cloud recovers from the deletion of all', () => {
  test.each(['configmaps', 'networkpolicies', 'services', 'deployments', 'statefulsets', 'daemonsets'])('%s', (kind) =>
    recovers(`all ${kind} deleted`, { ...cloud, happen: () => deleteAll(kind), within: 300 }),
  );
});

/** What servers need: its deletion waits for them, unless somebody says that it is meant. */
const carriesServers = ['ovnnetworks', 'neutrons', 'novas'];
const meant = 'openstack.k8s.io/delete-with-resources=true';

describe('the cloud recovers from the deletion of its', () => {
  const kinds = [
    'memcacheds',
    'placements',
    'glances',
    'rabbitmqs',
    'ovnnetworks',
    'neutrons',
    'novas',
    'keystones',
    'mariadbs',
  ];
  test.each(kinds)('%s', (kind) =>
    recovers(`${kind} deleted`, {
      ...cloud,
      happen: async () => {
        const full = `${kind}.openstack.k8s.io`;
        const before = await list(full);
        if (carriesServers.includes(kind))
          await program('kubectl', 'annotate', full, '--all-namespaces', '--all', meant);
        await program('kubectl', 'delete', full, '--all-namespaces', '--all', '--wait=false');
        await areNew(full, before);
      },
      within: 300,
    }),
  );
});
