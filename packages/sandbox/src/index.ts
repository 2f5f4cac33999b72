// A whole cluster in this process.

// The API server: alone, or that of a sandbox.
export { ADMIN, type ApiServer, type ApiServerOptions, createApiServer } from './api/api-server.ts';
export type { AdmissionPlugin, AdmissionRequest } from './api/core.ts';
export type { CustomTypeFactory } from './api/custom-resources.ts';
// Faults.
export type { EventFault, FaultableEvent, Faults, RequestFault } from './api/faults.ts';
// Over sockets: kubectl, other clients, webhooks.
export { type Listening, type ListenOptions, listen } from './api/listen.ts';
export type { LogRequest, LogSource } from './api/log-handler.ts';
export type { Registry, ServedType } from './api/registry.ts';
export type { RequestInfo, User } from './api/request-info.ts';
export { StatusError } from './api/status.ts';
export type { ResourceId, Store, StoreEvent, StoreListener } from './api/store.ts';
export { callOverHttps } from './api/webhook-call.ts';
export type { WebhookCaller } from './api/webhooks.ts';
export type { ExecResult } from './nodes/container.ts';
export type { NodeTimings } from './nodes/node-context.ts';
// Programs: what containers run.
export {
  type Connection,
  type ErrorCode,
  type FileFacts,
  type FileSystem,
  type HttpMessage,
  type HttpReply,
  type Image,
  type ImageEntry,
  type Listener,
  type ListenOptions as SocketOptions,
  type Network,
  type Peer,
  type PodFacts,
  type Process,
  type Program,
  type Protocol,
  type RunOptions,
  type Session,
  SystemError,
} from './programs/program.ts';
export { createSandbox, type NodeOptions, type Sandbox, type SandboxOptions } from './sandbox.ts';
