import { writeFileSync } from 'node:fs';
import { createRehearsal } from '@openstack-operator/cli';
import { noLog, realClock, realRandom } from '@openstack-operator/kube';

/** A process of its own: an embedded Kubernetes with so many nodes, over sockets. Says `ready` when it serves. */
const [nodes, kubeconfig] = process.argv.slice(2) as [string, string];
const { sandbox } = await createRehearsal({
  clock: realClock,
  random: realRandom,
  log: noLog,
  nodes: Array.from({ length: Number(nodes) }, (_, index) => `node-${index + 1}`),
  // Pods go where they fit: with the least a cloud needs, a node would be full of other clouds' when its agents come.
  capacity: { cpu: '4', memory: '16Gi' },
});
const listening = await sandbox.listen();
writeFileSync(kubeconfig, await listening.kubeconfig(), { mode: 0o600 });
process.send?.('ready');
process.once('disconnect', () => process.exit());
