export * from './api.ts';
export { type ClientOptions, createClient } from './client.ts';
export * from './clock.ts';
export * from './errors.ts';
export type { Authenticator } from './exchange.ts';
export * from './objects.ts';
export * from './random.ts';
export * from './transport.ts';
export * from './virtual-clock.ts';
