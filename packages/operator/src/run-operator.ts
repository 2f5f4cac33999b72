import {
  type Client,
  type Clock,
  type Health,
  type Log,
  type Metrics,
  type Random,
  type Runtime,
  run,
} from '@openstack-operator/kube';
import { fieldManager, surroundingsOf } from '@openstack-operator/openstack';
import { hiddenKinds } from './cluster-scope.ts';
import { operatorControllers } from './controllers.ts';
import { leaseName } from './permissions.ts';
import { formerDigestKey as readFormerDigestKey } from './secrets/digest-key.ts';
import { untilDefinitionsMatch } from './served-definitions.ts';

/** How an operator is run: in a pod, or inside a rehearsal. */
export interface OperatorOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** The operator's own namespace: its lease is there, and it is the operator's name on the resources that it manages. */
  readonly namespace: string;
  /** Manages the resources that are annotated with this class (default: those that are not). */
  readonly operatorClass?: string;
  /** Tells this process from every other one that wants to lead; without it there is no leader election. */
  readonly identity?: string;
  /** For the lease alone, on a connection of its own (default: `client`). */
  readonly leaseClient?: Client;
  /** Follow these namespaces only (Roles instead of ClusterRoles); default: all. */
  readonly namespaces?: readonly string[];
  /** Image of the operator itself, for its Jobs. */
  readonly operatorImage?: string;
  /** The cluster's DNS domain; default `cluster.local`. */
  readonly clusterDomain?: string;
  readonly metrics?: Metrics;
  readonly health?: Health;
  readonly started?: (runtime: Runtime) => void;
}

/** Runs the operator until `signal` is aborted. @throws LeadershipLostError when another one leads */
export async function runOperator(options: OperatorOptions): Promise<void> {
  const {
    client,
    clock,
    random,
    log,
    signal,
    namespace,
    identity,
    namespaces,
    metrics,
    health,
    started,
    operatorClass,
  } = options;
  await untilDefinitionsMatch({ client, clock, log, signal, ...(health === undefined ? {} : { health }) });
  const formerDigestKey = await readFormerDigestKey({ client, clock, log, namespace, signal });
  const { operatorImage, clusterDomain } = { ...surroundingsOf(), ...options };
  const hidden = namespaces === undefined ? [] : await hiddenKinds(client, signal);
  for (const { plural } of hidden)
    log.warn('may not be used, as no ClusterRole allows it (config/rbac-namespaced)', { resource: plural });
  await run({
    name: fieldManager,
    controllers: operatorControllers({
      operator: { name: namespace, ...(operatorClass === undefined ? {} : { resourceClass: operatorClass }) },
      ...(formerDigestKey === undefined ? {} : { formerDigestKey }),
      operatorImage,
      clusterDomain,
      hidden,
    }),
    client,
    clock,
    random,
    log,
    signal,
    ...(identity === undefined ? {} : { leaderElection: { namespace, name: leaseName, identity } }),
    ...(options.leaseClient === undefined ? {} : { leaseClient: options.leaseClient }),
    ...(namespaces === undefined ? {} : { namespaces }),
    ...(metrics === undefined ? {} : { metrics }),
    ...(health === undefined ? {} : { health }),
    ...(started === undefined ? {} : { started }),
  });
}
