import assert from 'node:assert/strict';
import test from 'node:test';
import {
  CustomResourceDefinition,
  Deployment,
  noLog,
  type ObjectRef,
  Pod,
  run,
  seededRandom,
  virtualClock,
} from '@openstack-operator/kube';
import { createSandbox, type Faults } from '@openstack-operator/sandbox';
import { websiteCrd } from '../../kube/example/crd.ts';
import { Website, websites } from '../../kube/example/website.ts';
import { web } from './web.ts';

const home: ObjectRef = { namespace: 'default', name: 'home' };

/** A cluster of two nodes in virtual time, with the definition of Website and the operator. */
async function start(faults: Faults = {}) {
  const clock = virtualClock();
  const random = seededRandom(1);
  const nodes = [{ name: 'node-1' }, { name: 'node-2' }];
  const sandbox = createSandbox({ clock, random, faults, images: [web], nodes });
  const client = sandbox.client();
  await client.create(CustomResourceDefinition, websiteCrd);
  const stop = new AbortController();
  const stopped = run({
    name: 'website-operator',
    controllers: [websites],
    client: sandbox.client({ name: 'website-operator', groups: ['system:masters'] }),
    clock,
    random,
    log: noLog,
    signal: stop.signal,
  });
  const create = (page: string, replicas: number) =>
    client.create(Website, {
      apiVersion: 'example.com/v1',
      kind: 'Website',
      metadata: home,
      spec: { page, replicas },
    });
  const isReady = (replicas: number) => () =>
    sandbox.api.store.get(Website, 'default/home')?.status?.readyReplicas === replicas;
  const end = async () => {
    stop.abort();
    await stopped;
    sandbox.stop();
  };
  return { clock, sandbox, client, create, isReady, end };
}

test('a Website becomes pods that serve its page', async () => {
  const { sandbox, client, create, isReady, end } = await start();
  await create('hello', 2);
  await sandbox.run(isReady(2));
  const { items } = await client.list(Pod, { namespace: 'default', labelSelector: 'app=home' });
  assert.equal(items.length, 2);
  assert.equal(sandbox.pods.logs({ namespace: 'default', name: items[0]?.metadata.name ?? '' }), 'listening\n');
  await end();
});

test('a node loses its power: after five minutes its pods run on the other one', async () => {
  const { clock, sandbox, create, isReady, end } = await start();
  await create('hello', 2);
  await sandbox.run(isReady(2));
  const began = clock.now();
  sandbox.nodes.stop('node-1');
  await sandbox.run(isReady(1));
  await sandbox.run(isReady(2));
  const minutes = (clock.now() - began) / 60_000;
  assert.ok(minutes > 5 && minutes < 7, `it took ${minutes} virtual minutes`);
  await end();
});

test('every third write is refused: the operator tries again', async () => {
  let writes = 0;
  const { sandbox, client, create, isReady, end } = await start({
    request({ user, verb }) {
      const isHit = user.name === 'website-operator' && verb === 'patch' && ++writes % 3 === 0;
      return isHit ? { kind: 'status', code: 503 } : undefined;
    },
  });
  await create('hello', 3);
  await sandbox.run(isReady(3));
  assert.equal((await client.get(Deployment, home)).spec?.replicas, 3);
  await end();
});
