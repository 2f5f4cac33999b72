import { describe, expect } from 'vitest';
import { type Kubectl, table, test } from './cluster.ts';

const manifest = (kind: string, spec: string) =>
  `apiVersion: openstack.k8s.io/v1alpha1\nkind: ${kind}\nmetadata: { name: mine }\nspec: ${spec}\n`;

async function installed(kubectl: Kubectl): Promise<void> {
  await kubectl`apply --server-side -k config/default`;
  await kubectl`wait --for=condition=Established crd --all --timeout=20s`;
}

describe('our kinds', () => {
  test('config/default installs, twice', async ({ kubectl }) => {
    const first = await kubectl`apply --server-side -k config/default`;
    expect(first).toContain(
      'customresourcedefinition.apiextensions.k8s.io/keystones.openstack.k8s.io serverside-applied',
    );
    expect(first).toContain('deployment.apps/openstack-operator serverside-applied');
    expect(await kubectl`apply --server-side -k config/default`).toBe(first);
    expect(await kubectl`diff --server-side -k config/default`).toBe('');
  });

  test('samples are accepted, and shown by category and short name', async ({ kubectl, cluster }) => {
    await installed(kubectl);
    const openstack = await cluster.kubectl('openstack');
    await openstack`create namespace openstack`;
    const kinds = [
      'mariadb',
      'rabbitmq',
      'memcached',
      'ovn-network',
      'keystone',
      'glance',
      'placement',
      'neutron',
      'nova',
    ];
    const files = [...kinds, 'controlplane_minimal', 'controlplane_production'];
    await openstack`apply ${files.map((name) => `--filename=config/samples/${name}.yaml`)}`;
    const all = await openstack`get openstack -o name`;
    for (const kind of kinds) expect(all).toContain(`${kind.replace('-', '')}.openstack.k8s.io/`);
    expect(table(await openstack`get oscp my-cloud`)[0]).toBe('NAME | PHASE | READY | MESSAGE | AGE');
    expect(await openstack`describe oscp my-cloud`).toMatch(/^Kind: +OpenStackControlPlane$/m);
    expect(await openstack`diff -f config/samples/controlplane_minimal.yaml`).toBe('');
    await openstack`delete namespace openstack --timeout=30s`;
  });

  test('explain documents every level', async ({ kubectl }) => {
    await installed(kubectl);
    expect(await kubectl`explain keystone.spec.release`).toMatch(/DESCRIPTION:\n {4}\S/);
    expect(await kubectl`explain openstackcontrolplane.spec.nova --recursive`).toContain('virtType\t<string>');
    expect(await kubectl`explain mariadb.status.conditions`).toContain('observedGeneration');
  });

  test('unknown fields are refused by strict validation, else a warning', async ({ kubectl }) => {
    await installed(kubectl);
    const wrong = kubectl.with({ stdin: manifest('Keystone', '{ regoin: here }') });
    expect(await wrong.fails`apply -f -`).toContain('strict decoding error: unknown field "spec.regoin"');
    const { stdout, stderr } = await wrong.run`apply --validate=warn -f -`;
    expect([stdout, stderr]).toEqual([
      'keystone.openstack.k8s.io/mine created\n',
      'Warning: unknown field "spec.regoin"\n',
    ]);
    expect(await kubectl`get keystone mine -o jsonpath={.spec.regoin}`).toBe('');
  });

  test('wrong values are refused in our words', async ({ kubectl }) => {
    await installed(kubectl);
    const refusal = (kind: string, spec: string) => kubectl.with({ stdin: manifest(kind, spec) }).fails`apply -f -`;
    expect(await refusal('Keystone', '{ release: "1999.1" }')).toContain(
      'this value of release is not offered by this version of the operator; possible now: ',
    );
    expect(await refusal('Nova', '{ databaseRef: {} }')).toContain('exactly one of name and external has to be set');
    expect(await refusal('Memcached', '{ replicas: -1 }')).toContain(
      'spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to',
    );
  });

  test('the operator has the rights that it needs, and its users have theirs', async ({ kubectl }) => {
    await installed(kubectl);
    const operator = 'system:serviceaccount:openstack-operator-system:openstack-operator';
    const can = async (verb: string, resource: string, user = operator) =>
      (await kubectl.run`auth can-i ${verb} ${resource} --as=${user}`).stdout.trim();
    expect(await can('patch', 'keystones.openstack.k8s.io')).toBe('yes');
    expect(await can('create', 'deployments.apps')).toBe('yes');
    expect(await can('create', 'clusterroles.rbac.authorization.k8s.io')).toBe('no');
    await kubectl`create rolebinding look --clusterrole=openstack-operator-view --user=carol`;
    expect(await can('list', 'novas.openstack.k8s.io', 'carol')).toBe('yes');
    expect(await can('delete', 'novas.openstack.k8s.io', 'carol')).toBe('no');
  });
});
