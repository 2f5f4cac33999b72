import { addServices } from './add-services.ts';

/** Brings up a service that stands alone, by every word that it has. Prints what became of it, as JSON. */
addServices(['depot.ts', 'depot']);

const { createCloud } = await import('../rollout/cloud.ts');
const cloud = await createCloud();
await cloud.startOperator();
const metadata = { name: 'depot', namespace: 'openstack' };
await cloud.settle(
  cloud.rehearsal.create({ apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'Depot', metadata, spec: {} }),
);
await cloud.until(() => cloud.isReady('Depot', 'depot'));

const pods = cloud.list('Pod').map(({ metadata, spec, status }) => ({ name: metadata.name, spec, status }));
const deployment = cloud.get('Deployment', 'depot-gate')?.['spec'];
process.stdout.write(JSON.stringify({ pods, deployment }));
process.exit(0);
