import type { Cluster } from '../cluster/cluster.ts';
import { ControllerRevision, EndpointSlice, Job, Pod, ReplicaSet } from '../cluster/kinds.ts';
import type { Storage } from '../cluster/storage.ts';
import { type Controller, startController } from './controller.ts';
import { cronJobController } from './cron-job.ts';
import { daemonSetController } from './daemon-set.ts';
import { deploymentController } from './deployment.ts';
import { disruptionBudgetController } from './disruption-budget.ts';
import { endpointSliceController } from './endpoint-slice.ts';
import { GarbageCollector } from './garbage-collector.ts';
import { jobController } from './job.ts';
import { namespaceController, namespaceDefaultsController } from './namespace.ts';
import { nodeLifecycleController, taintEvictionController } from './node-lifecycle.ts';
import { OwnerIndex } from './owner-index.ts';
import { replicaSetController } from './replica-set.ts';
import { statefulSetController } from './stateful-set.ts';
import { claimController, volumeController } from './volume-binder.ts';

/** What the controllers are made of. */
export interface ControllersOptions {
  readonly storage: Storage;
  /** PEM of the cluster's CA, for the ConfigMap `kube-root-ca.crt`. */
  readonly caCertificate: string;
  readonly onError: (what: string, error: unknown) => void;
}

/** Everything that a kube-controller-manager runs, as far as the sandbox has it. */
export function startControllers(cluster: Cluster, options: ControllersOptions): Controller[] {
  const { storage, caCertificate, onError } = options;
  const manager = cluster.as('kube-controller-manager');
  const pods = new OwnerIndex(manager, Pod);
  const replicaSets = new OwnerIndex(manager, ReplicaSet);
  const revisions = new OwnerIndex(manager, ControllerRevision);
  const jobs = new OwnerIndex(manager, Job);
  const slices = new OwnerIndex(manager, EndpointSlice);
  return [
    startController(manager, namespaceDefaultsController(caCertificate), onError),
    startController(manager, namespaceController(), onError),
    startController(manager, deploymentController(replicaSets, pods), onError),
    startController(manager, replicaSetController(pods), onError),
    startController(manager, statefulSetController(pods, revisions), onError),
    startController(manager, daemonSetController(pods, revisions), onError),
    startController(manager, jobController(pods), onError),
    startController(manager, cronJobController(jobs), onError),
    startController(manager, disruptionBudgetController(), onError),
    startController(manager, nodeLifecycleController(), onError),
    startController(manager, taintEvictionController(), onError),
    startController(manager, endpointSliceController(slices), onError),
    startController(manager, claimController(), onError),
    startController(manager, volumeController(storage), onError),
    new GarbageCollector(manager, onError),
  ];
}
