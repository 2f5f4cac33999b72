import { ConfigMap, connect, realClock } from '@openstack-operator/kube';
import { namespace, play } from './rounds.ts';

/** A contestant: our client, as `connect` makes it. */
const [kubeconfig = ''] = process.argv.slice(2);
const { client } = await connect({ kubeconfig, env: {}, clock: realClock });
await play((name, patch) => client.patch(ConfigMap, { namespace, name }, 'merge', patch));
await client.close();
