import {
  ConfigMap,
  CustomResourceDefinition,
  controller,
  createClient,
  type KubeObject,
  keyOf,
  noLog,
  on,
  type ReconcileContext,
  type Runtime,
  run,
  Secret,
  seededRandom,
  virtualClock,
} from '@openstack-operator/kube';
import { createSandbox, type Faults } from '@openstack-operator/sandbox';
import { siteOf } from '../../kubernetes/conformance/site.ts';
import type { Stage } from './stage.ts';

interface Site extends KubeObject {
  readonly spec: { readonly secretRef: { readonly name: string } };
  readonly status?: { readonly passes?: number; readonly ready?: boolean };
}

const { kind: Site, definition } = siteOf<Site>('leaks.example.com');

/** Sites that come and go together. */
const BATCH = 100;
const namespace = 'default';

/**
 * All that keeps something for a key in `kube`: a controller whose objects own two others, refer to a third by a watch
 * of its own, fail at first, wish for another pass, and record events; on a server that fails now and then.
 */
export async function runtimeStage(): Promise<Stage> {
  const clock = virtualClock();
  const random = seededRandom(1);
  const sandbox = createSandbox({ clock, random, images: [], nodes: [], faults: faults() });
  const client = sandbox.client();
  await client.create(CustomResourceDefinition, definition);
  const stop = new AbortController();
  const failed = new Set<string>();
  let passes = 0;
  let runtime: Runtime | undefined;

  const site = controller(Site, {
    owns: [ConfigMap],
    watches: [on(Secret, { individually: true, references: ({ spec }) => [spec.secretRef] })],
    concurrency: 10,
    onDelete: (key) => void failed.delete(key),
    reconcile: async (pass) => {
      passes++;
      return await reconcile(pass, failed);
    },
  });
  const ended = run({
    name: 'leaks',
    controllers: [site],
    client: createClient({ transport: sandbox.transport({ name: 'operator', groups: ['system:masters'] }), clock }),
    clock,
    random,
    log: noLog,
    signal: stop.signal,
    leaderElection: { namespace, name: 'leaks', identity: 'leaks' },
    started: (started) => {
      runtime = started;
    },
  });
  await clock.run(() => runtime !== undefined);

  return {
    passes: () => Promise.resolve(passes),
    async cycle(first) {
      const names = Array.from({ length: BATCH }, (_, index) => `site-${first + index}`);
      for (const name of names) {
        await client.create(Secret, {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { namespace, name },
          type: 'Opaque',
        });
        await client.create(Site, {
          apiVersion: 'leaks.example.com/v1',
          kind: 'Site',
          metadata: { namespace, name },
          spec: { secretRef: { name } },
        });
      }
      const { store } = sandbox.api;
      await clock.run(() =>
        names.every((name) => (store.get(Site, `${namespace}/${name}`) as Site | undefined)?.status?.ready === true),
      );
      for (const name of names) {
        await client.delete(Site, { namespace, name });
        await client.delete(Secret, { namespace, name });
      }
      await clock.run(() => store.list(Site).length === 0 && store.list(ConfigMap, namespace).length === 1);
      return BATCH;
    },
    async rest() {
      await clock.advance(70 * 60_000);
      sandbox.api.store.compact();
    },
    async stop() {
      stop.abort(new Error('the stage ends'));
      let over = false;
      void ended.finally(() => {
        over = true;
      });
      await clock.run(() => over);
      sandbox.stop();
    },
  };
}

async function reconcile(
  { object, key, apply, create, status, event, cache }: ReconcileContext<Site>,
  failed: Set<string>,
) {
  const { name } = object.metadata;
  if (cache.get(Secret, { namespace, name: object.spec.secretRef.name }) === undefined) return undefined;
  if (!failed.has(key)) {
    failed.add(key);
    throw new Error('the first pass fails');
  }
  const made = (suffix: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `${name}-${suffix}` } });
  await create(made('made'));
  await apply({ ...made('stated'), data: { key: keyOf(object) } });
  if (object.status?.ready !== true) event({ type: 'Normal', reason: 'Made', action: 'Make', note: name });
  await status({ ready: true });
  return { requeueAfter: 600_000 };
}

/** One request in 200 fails, by turns in each way that clients know; one watch event in 500 breaks its watch. */
function faults(): Faults {
  let requests = 0;
  let events = 0;
  const ways = [
    { kind: 'status', code: 500 },
    { kind: 'status', code: 409 },
    { kind: 'status', code: 429, retryAfterSeconds: 1 },
    { kind: 'drop' },
    { kind: 'dropResponse' },
  ] as const;
  return {
    request: ({ user }) =>
      user.name === 'operator' && ++requests % 200 === 0 ? ways[(requests / 200) % ways.length] : undefined,
    event: () => (++events % 500 === 0 ? { kind: 'break' } : undefined),
  };
}
