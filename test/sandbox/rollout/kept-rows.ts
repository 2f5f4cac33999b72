import { Pod } from '@openstack-operator/kube';
import type { Image } from '@openstack-operator/sandbox';
import { connectMysql, tableOf } from '../../../packages/processes/src/infrastructure/mysql-protocol.ts';
import type { Cloud } from './cloud.ts';

/** Where each service has a row for what users keep in it: its database, and the table. */
export const keptIn: Readonly<Record<string, readonly [database: string, table: string]>> = {
  cinder: ['cinder', 'volumes'],
  designate: ['designate', 'zones'],
  glance: ['glance', 'images'],
  heat: ['heat', 'stack'],
  ironic: ['ironic', 'nodes'],
  magnum: ['magnum', 'cluster'],
  manila: ['manila', 'shares'],
  nova: ['nova', 'instances'],
  octavia: ['octavia', 'load_balancer'],
  trove: ['trove', 'instances'],
  zun: ['zun', 'container'],
};

/** The image of a pod that makes, or takes away, a row of another project in a table. */
export const rowImage: Image = {
  matches: (reference) => reference === 'row',
  user: 1000,
  programs: {
    row: async (process) => {
      const [, verb, database = '', table = ''] = process.argv;
      const login = { host: 'my-cloud-mariadb.openstack.svc', user: 'root', password: process.env['PASSWORD'] ?? '' };
      const connection = await connectMysql(process.network, { ...login, database });
      await connection.transaction('INSERT', (schema) => {
        const rows = tableOf(schema, table);
        if (verb === 'take') rows.delete('kept');
        else rows.set('kept', { id: 'kept', uuid: 'kept', project: 'other', project_id: 'other', deleted: false });
      });
      connection.close();
      return 0;
    },
  },
};

/** Makes or takes away the rows of some services. @throws Error when a pod that does it fails */
export async function rows(cloud: Cloud, verb: 'make' | 'take', services: readonly string[]): Promise<void> {
  const secretKeyRef = { name: 'my-cloud-mariadb-root-password', key: 'password' };
  const pod = (service: string, [database, table]: readonly [string, string]): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `row-${service}`,
      namespace: 'openstack',
      // Pods of the database's dependents alone may connect.
      labels: { 'app.kubernetes.io/part-of': 'openstack', 'app.kubernetes.io/name': service },
    },
    spec: {
      restartPolicy: 'Never',
      containers: [
        {
          name: 'row',
          image: 'row',
          command: ['row', verb, database, table],
          env: [{ name: 'PASSWORD', valueFrom: { secretKeyRef } }],
        },
      ],
    },
  });
  for (const service of services) {
    const place = keptIn[service];
    if (place === undefined) throw new Error(`kept-rows.ts says no table of ${service} for what users keep there`);
    await cloud.settle(cloud.rehearsal.sandbox.client().create(Pod, pod(service, place)));
    const phase = () => (cloud.get('Pod', `row-${service}`)?.status as { phase?: string } | undefined)?.phase;
    await cloud.until(() => ['Succeeded', 'Failed'].includes(phase() ?? ''), 10);
    if (phase() !== 'Succeeded') throw new Error(JSON.stringify(cloud.get('Pod', `row-${service}`)?.status));
    await cloud.remove(Pod, `row-${service}`);
  }
}
