// Controllers: what an operator is written with.

export {
  type Controller,
  type ControllerOptions,
  controller,
  type ReconcileContext,
  type ReconcileResult,
} from './controller/controller.ts';
export type { EventText } from './controller/events.ts';
export { type RunOptions, type Runtime, run } from './controller/run.ts';
export type { Ownership, Verbs } from './controller/verbs.ts';
export { type OnOptions, type Owned, on, type Watched } from './controller/watches.ts';
export type { LeaderElectionOptions } from './leader-election/leader-election.ts';

// Client: one API server, in raw JSON.

export type {
  Abortable,
  ApplyOptions,
  Client,
  DeleteOptions,
  ListOptions,
  LogOptions,
  ObjectList,
  ObjectRef,
  PatchType,
  Permitted,
  Selection,
  ServedKind,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client/api.ts';
export { type ClientOptions, createClient } from './client/client.ts';
export { type Connected, type ConnectOptions, connect } from './credentials/connect.ts';

// Errors: told apart by class, and by `code`.

export { LeadershipLostError } from './leader-election/guarded-client.ts';
export { ApiError, ConfigError, ConnectionError, isApiError, TerminalError, TooLongError } from './objects/errors.ts';
export { ForeignObjectError, isControlledBy } from './objects/ownership.ts';

// Objects: kinds, metadata, selectors.

export {
  apiVersionOf,
  type Condition,
  controllerOf,
  controllerReference,
  defineKind,
  type Json,
  type Kind,
  type KubeObject,
  keyOf,
  type ManagedFieldsEntry,
  type ObjectMeta,
  type OwnerReference,
  type Status,
  type StoredObject,
} from './objects/objects.ts';
export { type LabelSelector, matchesLabels, type Requirement } from './objects/selectors.ts';

// Cache: what controllers read.

export { Cache, type CacheOptions, type CacheReader, type WatchKindOptions } from './cache/cache.ts';
export { intern } from './cache/intern.ts';
export type { ReflectorSelection } from './cache/reflector.ts';
export {
  type Change,
  type IndexFunction,
  type Owner,
  Store,
  type StoreOptions,
  type Transform,
} from './cache/store.ts';

// Time and randomness: handed in, so that tests have their own.

export { type AbortScope, type AbortScopeOptions, abortScope } from './base/abort.ts';
export { type Clock, microTimestamp, parseTimestamp, realClock, sleep, type Timer, timestamp } from './base/clock.ts';
export { alphanumeric, type Random, realRandom, seededRandom, uuid } from './base/random.ts';
export { type VirtualClock, virtualClock } from './base/virtual-clock.ts';

// Operation: log, events, leader election, metrics, health.

export { createLog, type Log, type LogFields, type LoggerOptions, type LogLevel, noLog } from './base/log.ts';
export { createEventRecorder, type EventRecorder, type EventRecorderOptions } from './controller/events.ts';
export { LeaderElection } from './leader-election/leader-election.ts';
export { meteredTransport } from './metrics/metered-transport.ts';
export { createMetrics, type Metrics } from './metrics/metrics.ts';
export { createHealth, type Health, type HealthCheck } from './serve/health.ts';
export { type Access, type AccessCheck, type AccessCheckOptions, accessCheck } from './serve/metrics-access.ts';
export { type ServeLimits, type ServeOptions, type Serving, serve } from './serve/serve.ts';

// Transport: what requests go over.

export type { Authenticator, Headers } from './client/exchange.ts';
export type { ConnectionSettings, TlsSettings } from './transport/connection.ts';
export { createHttp1Transport } from './transport/http1-transport.ts';
export { createHttp2Transport } from './transport/http2-transport.ts';
export type { HttpRequest, HttpResponse, Transport } from './transport/transport.ts';
export { transportFor } from './transport/transport-for.ts';

// Kinds of Kubernetes and of Gateway API: each name is a kind, and the type of its objects.

export {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  ControllerRevision,
  CronJob,
  CustomResourceDefinition,
  DaemonSet,
  Deployment,
  EndpointSlice,
  Endpoints,
  Event,
  Gateway,
  HorizontalPodAutoscaler,
  HTTPRoute,
  Job,
  Lease,
  Namespace,
  NetworkPolicy,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  PriorityClass,
  ReplicaSet,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
  StorageClass,
  TCPRoute,
  UDPRoute,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from './objects/kinds.ts';
