import type { KubeObject } from '@openstack-operator/kube';
import { bellCloud, tell } from './bell-cloud.ts';

/** By what a service coordinates: the cloud's Memcached, then a Valkey of others, then the first one again. */
const cloud = await bellCloud({});
const url = () => ({
  file: /^backend_url = (.*)$/m.exec(cloud.file('my-cloud-bell-api', 'placement.conf') ?? '')?.[1],
  variable: cloud.secret('my-cloud-bell-config')['OS_COORDINATION__BACKEND_URL'],
});
const first = url();
const metadata = { name: 'valkey', namespace: 'openstack' };
const secret: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { password: 'two/words' } };
await cloud.settle(cloud.rehearsal.create(secret));
const external = { host: 'valkey.example.com', port: 6380, secretName: 'valkey' };
await cloud.changed({ bell: { coordinationRef: { external } } });
const second = url();
await cloud.changed({ bell: { coordinationRef: null } });
tell({ first, second, third: url() });
