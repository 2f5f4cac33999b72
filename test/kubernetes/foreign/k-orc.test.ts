import { defineKind, type KubeObject, Namespace, Secret } from '@openstack-operator/kube';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  installDefinitions,
  makeNamespace,
  refusalOf,
  remove,
  type ServerName,
  startCluster,
  until,
  untilGone,
} from './cluster.ts';
import { differencesOf, finalObjects, type Moments } from './final-objects.ts';
import { type Keystone, startKeystone } from './keystone.ts';
import { startProgram } from './operator.ts';
import { programOf } from './programs.ts';
import { kubeconfigWith } from './rights.ts';

interface Resource extends KubeObject {
  readonly spec: Record<string, unknown>;
  readonly status?: {
    readonly conditions?: readonly { type: string; status: string; message: string; observedGeneration?: number }[];
    readonly resource?: { readonly description?: string };
  };
}

const group = 'openstack.k-orc.cloud/v1alpha1';
const Domain = defineKind<Resource>(group, 'Domain', 'domains');
const Project = defineKind<Resource>(group, 'Project', 'projects');
const Role = defineKind<Resource>(group, 'Role', 'roles');
const namespace = 'tenants';
const all = [
  [Domain, 'shop'],
  [Project, 'shop'],
  [Role, 'clerk'],
] as const;
const kinds = [Domain, Project, Role, Secret];

/** What a server has at the end of each part of the story, and what Keystone was asked. */
interface Story {
  readonly moments: Moments;
  readonly refused: string;
  readonly asked: readonly string[];
  readonly notOffered: readonly string[];
}

let keystone: Keystone;
beforeAll(async () => {
  keystone = await startKeystone();
}, 180_000);
afterAll(() => keystone.stop());

/** K-ORC on a server: a domain with a role, and a project; first without credentials, then with them, then deleted. */
async function play(server: ServerName): Promise<Story> {
  await using end = new AsyncDisposableStack();
  const cluster = await startCluster(server);
  end.defer(() => cluster.stop());
  const { client } = cluster;
  const program = programOf('k-orc');
  await installDefinitions(cluster, program);
  await makeNamespace(cluster, namespace);
  const before = keystone.requests.length;
  const kubeconfig = await kubeconfigWith(cluster, program.rights, 'k-orc');
  const kOrc = startProgram(kubeconfig, program, ['--health-probe-bind-address=0'], { HTTP_PROXY: keystone.proxy });
  end.defer(() => kOrc.stop());
  end.defer(() => remove(cluster, Namespace, { name: namespace }));
  const at = (name: string) => ({ namespace, name });
  try {
    await client.create(Domain, resource('Domain', 'shop', { resource: { description: 'A shop' } }));
    await client.create(Role, resource('Role', 'clerk', { resource: { domainRef: 'shop' } }));
    await client.create(Project, resource('Project', 'shop', { resource: { tags: ['a', 'b'] } }));
    for (const [kind, name] of all) await until(cluster, kind, at(name), (found) => /Waiting for/.test(told(found)));
    const waiting = await finalObjects(cluster, kinds, namespace);

    const stringData = { 'clouds.yaml': keystone.clouds };
    await client.create(Secret, { apiVersion: 'v1', kind: 'Secret', metadata: at('clouds'), stringData });
    for (const [kind, name] of all) await until(cluster, kind, at(name), isAvailable);
    const description = 'All that is sold';
    await client.patch(Project, at('shop'), 'merge', { spec: { resource: { description } } });
    const isChanged = (found?: Resource) => isAvailable(found) && found?.status?.resource?.description === description;
    await until(cluster, Project, at('shop'), isChanged);
    const imported = { managementPolicy: 'unmanaged', import: { filter: { name: 'admin' } } };
    await client.create(Project, resource('Project', 'admin', imported));
    await until(cluster, Project, at('admin'), isAvailable);
    const available = await finalObjects(cluster, kinds, namespace);

    const change = { spec: { managementPolicy: 'unmanaged' } };
    const refused = await refusalOf(client.patch(Project, at('shop'), 'merge', change));
    await client.delete(Domain, at('shop'));
    await client.delete(Secret, at('clouds'));
    const held = await finalObjects(cluster, kinds, namespace);
    for (const name of ['shop', 'admin']) await remove(cluster, Project, at(name));
    await remove(cluster, Role, at('clerk'));
    await untilGone(cluster, Domain, at('shop'));
    await untilGone(cluster, Secret, at('clouds'));
    const asked = keystone.requests.slice(before).map((line) => line.replace(/[0-9a-f]{32}/, '<id>'));
    const moments = { waiting, available, held };
    return { moments, refused, asked: [...new Set(asked)].sort(), notOffered: cluster.notOffered };
  } catch (error) {
    throw kOrc.explain(error);
  }
}

function told(found: Resource | undefined): string {
  return (found?.status?.conditions ?? []).map(({ message }) => message).join('\n');
}

function isAvailable(found: Resource | undefined): boolean {
  return Object.entries({ Available: 'True', Progressing: 'False' }).every(([type, wanted]) => {
    const condition = found?.status?.conditions?.find((one) => one.type === type);
    return condition?.status === wanted && condition.observedGeneration === found?.metadata.generation;
  });
}

function resource(kind: string, name: string, spec: Record<string, unknown>): Resource {
  const cloudCredentialsRef = { secretName: 'clouds', cloudName: 'embedded' };
  return { apiVersion: group, kind, metadata: { namespace, name }, spec: { cloudCredentialsRef, ...spec } };
}

test('K-ORC: waiting for credentials, domain, role and project in Keystone, what holds a deletion', async () => {
  const real = await play('kubernetes');
  const ours = await play('sandbox');
  expect(real.asked).toEqual(expect.arrayContaining(['POST /v3/projects: 201', 'DELETE /v3/projects/<id>: 204']));
  expect(Object.keys(real.moments['held'] ?? {})).toEqual(expect.arrayContaining(['Domain shop', 'Secret clouds']));
  expect(differencesOf(real.moments, ours.moments)).toEqual([]);
  expect(ours.refused).toBe(real.refused);
  expect(ours.asked).toEqual(real.asked);
  expect(ours.notOffered).toEqual([]);
});
