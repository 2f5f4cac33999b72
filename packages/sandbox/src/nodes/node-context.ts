import type { Clock, Random } from '@openstack-operator/kube';
import type { Cluster } from '../cluster/cluster.ts';
import type { EventRecorder } from '../cluster/events.ts';
import type { Storage } from '../cluster/storage.ts';
import type { AddressPool } from '../network/address-pool.ts';
import type { ClusterNetwork } from '../network/cluster-network.ts';
import type { Host } from '../network/host.ts';
import type { Volume } from '../programs/file-tree.ts';
import type { Image } from '../programs/program.ts';
import type { HandlerRunner } from './handler.ts';

/** Durations that a node simulates, in milliseconds. */
export interface NodeTimings {
  /** Fetching an image that the node does not have yet. */
  readonly imagePull: number;
  /** From the decision to start a container to its first process. */
  readonly containerStart: number;
}

/** All that the pods of one node share. */
export interface NodeContext {
  readonly name: string;
  readonly cluster: Cluster;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly network: ClusterNetwork;
  readonly host: Host;
  readonly podAddresses: AddressPool;
  readonly storage: Storage;
  readonly disk: Volume;
  readonly images: readonly Image[];
  /** References that have been pulled. */
  readonly pulled: Set<string>;
  readonly allocatable: Readonly<Record<string, string | number>>;
  readonly handlers: HandlerRunner;
  readonly timings: NodeTimings;
}
