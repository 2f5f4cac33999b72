import { operatorNamespace } from '@openstack-operator/cli';
import { ClusterRoleBinding, type Kind, Lease, Namespace, Secret, type Transport } from '@openstack-operator/kube';
import { conditionOf, OpenStackControlPlane } from '@openstack-operator/openstack';
import { describe, expect, test } from 'vitest';
import { controlPlane, createCloud, identityOnly } from './cloud.ts';
import { install, operatorUser } from './operator-access.ts';

const namespace = 'openstack';
const cloudRef = { namespace, name: 'my-cloud' };

/** A wire that remembers what was asked and what was refused. */
function listening() {
  const refused: string[] = [];
  const asked = new Set<string>();
  const wire = (transport: Transport): Transport => ({
    ...transport,
    request: async (request, signal) => {
      const response = await transport.request(request, signal);
      const line = `${request.method} ${request.path.split('?', 1)[0]}`;
      asked.add(line);
      if (response.status === 403) refused.push(line);
      return response;
    },
  });
  return { wire, refused, asked };
}

async function guardedCloud() {
  const { wire, refused, asked } = listening();
  const cloud = await createCloud({ server: { authorization: 'RBAC' }, wire });
  return { cloud, refused, asked };
}

describe('with the rights of config/rbac', () => {
  test('nothing is refused: rollout, change, drift, lost and rotated keys, node claims, deletion', async () => {
    const { cloud, refused, asked } = await guardedCloud();
    const client = cloud.rehearsal.sandbox.client();
    const ready = () => cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
    await install(cloud, ['rbac/service_account.yaml', 'rbac/role.yaml', 'rbac/role_binding.yaml']);
    await cloud.startOperator({ user: operatorUser, identity: 'one' });
    const keystone = { fernetKeyRotationInterval: 1 };
    const spec = { ...identityOnly, keystone, ovnNetwork: { nodeGroups: [{ name: 'edge' }] } };
    await cloud.settle(cloud.rehearsal.create(controlPlane(spec)));
    await ready();
    expect(cloud.list('Node')[0]?.metadata.labels?.['openstack.k8s.io/cloud']).toBe('openstack.my-cloud');

    const patch = { spec: { keystone: { tokenExpiration: 1800 }, mariadb: { storage: { size: '20Gi' } } } };
    await cloud.settle(client.patch(OpenStackControlPlane as Kind, cloudRef, 'merge', patch));
    await cloud.clock.advance(60_000);
    await ready();
    await cloud.settle(client.delete(Secret, { namespace, name: 'my-cloud-keystone-db-password' }));
    await cloud.clock.advance(60_000);
    await ready();
    await cloud.clock.advance(65 * 60_000);
    expect(cloud.list('Event').map(({ reason }) => reason)).toContain('KeysRotated');

    await cloud.settle(client.delete(OpenStackControlPlane as Kind, cloudRef));
    await cloud.until(() => cloud.list('Pod').length === 0);
    expect(cloud.list('Node')[0]?.metadata.labels).not.toHaveProperty('openstack.k8s.io/cloud');
    expect(refused).toEqual([]);
    expect([...asked]).toContain(
      `PUT /apis/coordination.k8s.io/v1/namespaces/${operatorNamespace}/leases/openstack-operator`,
    );
  });

  test('a bound lease and digest key, and no others, may be touched', async () => {
    const { cloud } = await guardedCloud();
    await install(cloud, ['rbac/role.yaml', 'rbac/role_binding.yaml']);
    const client = cloud.rehearsal.sandbox.client(operatorUser);
    const other = { namespace: operatorNamespace, name: 'other' };
    await expect(cloud.settle(client.get(Lease, other))).rejects.toThrow('cannot get resource "leases"');
    await expect(cloud.settle(client.delete(Secret, other))).rejects.toThrow('cannot delete resource "secrets"');
  });
});

describe('with Roles alone (--watch-namespaces)', () => {
  const own = ['rbac/service_account.yaml', 'rbac/role_binding.yaml'];

  test('a cloud without nodes becomes Ready, and nothing is refused', async () => {
    const { cloud, refused } = await guardedCloud();
    await installOwn(cloud);
    await install(cloud, ['rbac-namespaced/role.yaml'], namespace);
    await cloud.startOperator({ user: operatorUser, identity: 'one', namespaces: [namespace] });
    await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
    await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
    const client = cloud.rehearsal.sandbox.client();
    await cloud.settle(client.delete(OpenStackControlPlane as Kind, cloudRef));
    await cloud.until(() => cloud.list('Pod').length === 0);
    expect(refused).toEqual([]);
  });

  test('what needs nodes says which ClusterRole is missing; with it, nodes are claimed', async () => {
    const { cloud } = await guardedCloud();
    await installOwn(cloud);
    await install(cloud, ['rbac-namespaced/role.yaml'], namespace);
    const operator = await cloud.startOperator({ user: operatorUser, namespaces: [namespace] });
    const spec = { ...identityOnly, ovnNetwork: { nodeGroups: [{ name: 'edge' }] } };
    await cloud.settle(cloud.rehearsal.create(controlPlane(spec)));
    const nodes = () => {
      const object = cloud.get('OpenStackControlPlane', 'my-cloud');
      return object && conditionOf(object, 'NodesReady');
    };
    await cloud.until(() => nodes()?.reason === 'NodesHidden');
    expect(nodes()?.message).toContain('bind it the ClusterRole openstack-operator-cluster');
    await install(cloud, ['rbac-namespaced/cluster_role.yaml']);
    await cloud.settle(operator.stop());
    await cloud.startOperator({ user: operatorUser, namespaces: [namespace] });
    await cloud.until(() => nodes()?.status === 'True');
  });

  async function installOwn(cloud: Awaited<ReturnType<typeof createCloud>>): Promise<void> {
    await install(cloud, own);
    await install(cloud, ['rbac/role.yaml']);
    // config/default without what is bound to the whole cluster.
    const client = cloud.rehearsal.sandbox.client();
    await cloud.settle(client.delete(ClusterRoleBinding, { name: 'openstack-operator' }));
    await cloud.settle(
      client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }),
    );
  }
});
