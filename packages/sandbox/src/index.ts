export * from './nodes/program.ts';
