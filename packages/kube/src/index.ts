export * from './api.ts';
export * from './clock.ts';
export * from './errors.ts';
export * from './objects.ts';
export * from './random.ts';
export * from './transport.ts';
export * from './virtual-clock.ts';
