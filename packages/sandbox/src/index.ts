export { ADMIN, type ApiServer, type ApiServerOptions, createApiServer } from './api/api-server.ts';
export type { AdmissionPlugin, AdmissionRequest } from './api/core.ts';
export type { EventFault, FaultableEvent, Faults, RequestFault } from './api/faults.ts';
export type { Registry, ServedType } from './api/registry.ts';
export type { RequestInfo, User } from './api/request-info.ts';
export { StatusError } from './api/status.ts';
export { type ResourceId, resourceIdOf, Store, type StoreEvent, type StoreListener } from './api/store.ts';
export * from './nodes/program.ts';
