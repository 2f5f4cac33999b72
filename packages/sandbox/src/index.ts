// A whole cluster in this process: API server, controllers, scheduler, nodes.

export type { ExecResult } from './nodes/container.ts';
export type { NodeTimings } from './nodes/node-context.ts';
export { createSandbox, type NodeOptions, type Sandbox, type SandboxOptions } from './sandbox.ts';

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

// Faults: what goes wrong with requests and watches, on purpose.

export type { EventFault, FaultableEvent, Faults, RequestFault } from './api/faults.ts';

// Sockets: for kubectl and other clients; how webhooks are called.

export { type Listening, type ListenOptions, listen } from './api/listen.ts';
export { callOverHttps } from './api/webhook-call.ts';
export type { WebhookCaller } from './api/webhooks.ts';

// The API server: that of a sandbox, or one alone.

export { ADMIN, type ApiServer, type ApiServerOptions, createApiServer } from './api/api-server.ts';
export type { AdmissionPlugin, AdmissionRequest } from './api/core.ts';
export type { CustomTypeFactory } from './api/custom-resources.ts';
export type { LogRequest, LogSource } from './api/log-handler.ts';
export type { Registry, ServedType } from './api/registry.ts';
export type { RequestInfo, User } from './api/request-info.ts';
export { StatusError } from './api/status.ts';
export type { ResourceId, Store, StoreEvent, StoreListener } from './api/store.ts';
