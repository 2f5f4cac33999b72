import { connect, createLog, run } from '@openstack-operator/kube';
import { websites } from './website.ts';

// As kubectl does: KUBECONFIG, ~/.kube/config, or the service account of the pod.
const { client } = await connect({ env: process.env, userAgent: 'website-operator' });
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());

await run({
  name: 'website-operator',
  controllers: [websites],
  client,
  log: createLog({ write: (line) => console.log(line) }),
  signal: stop.signal,
});
await client.close();
