import { writeFileSync } from 'node:fs';
import { createRehearsal } from '@openstack-operator/cli';
import { noLog, realClock, realRandom } from '@openstack-operator/kube';
import { HollowNodes } from '../hollow-nodes.ts';

/** A process of its own: an embedded Kubernetes with so many nodes, hollow or not, over sockets. Says `ready` when it serves. */
const [count, kubeconfig, hollow] = process.argv.slice(2) as [string, string, string?];
const nodes = Array.from({ length: Number(count) }, (_, index) => `node-${index + 1}`);
const { sandbox } = await createRehearsal({
  clock: realClock,
  random: realRandom,
  log: noLog,
  nodes: hollow === undefined ? nodes : [],
  // Pods go where they fit: with the least a cloud needs, a node would be full of other clouds' when its agents come.
  capacity: { cpu: '4', memory: '16Gi' },
});
if (hollow !== undefined) await new HollowNodes(sandbox, realClock).add(nodes);
const listening = await sandbox.listen();
writeFileSync(kubeconfig, await listening.kubeconfig(), { mode: 0o600 });
process.send?.('ready');
process.once('disconnect', () => process.exit());
