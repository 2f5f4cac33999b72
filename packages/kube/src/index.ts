export * from './abort.ts';
export * from './api.ts';
export * from './cache.ts';
export { type ClientOptions, createClient } from './client.ts';
export * from './clock.ts';
export { compact } from './compact.ts';
export { type Connected, type ConnectOptions, connect } from './connect.ts';
export type { ConnectionSettings, TlsSettings } from './connection.ts';
export {
  type Controller,
  type ControllerOptions,
  controller,
  type ReconcileContext,
  type ReconcileResult,
} from './controller.ts';
export * from './errors.ts';
export { createEventRecorder, type EventRecorder, type EventRecorderOptions, type EventText } from './events.ts';
export type { Authenticator, Headers } from './exchange.ts';
export { type Leadership, LeadershipLostError } from './guarded-client.ts';
export * from './health.ts';
export { createHttp1Transport } from './http1-transport.ts';
export { createHttp2Transport } from './http2-transport.ts';
export * from './kinds.ts';
export * from './leader-election.ts';
export * from './log.ts';
export { meteredTransport } from './metered-transport.ts';
export * from './metrics.ts';
export { type AccessCheck, accessCheck } from './metrics-access.ts';
export * from './objects.ts';
export { ForeignObjectError, isControlledBy } from './ownership.ts';
export * from './queue.ts';
export * from './random.ts';
export type { ReflectorSelection } from './reflector.ts';
export * from './resource-version.ts';
export * from './run.ts';
export * from './selectors.ts';
export * from './serve.ts';
export { type Change, type IndexFunction, Store, type StoreOptions, type Transform } from './store.ts';
export * from './transport.ts';
export { transportFor } from './transport-for.ts';
export type { Ownership, Verbs } from './verbs.ts';
export * from './virtual-clock.ts';
export { type Owned, on, type Watched } from './watches.ts';
