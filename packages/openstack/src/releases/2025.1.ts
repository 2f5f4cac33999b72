import { defineRelease } from './release.ts';

/** OpenStack 2025.1 (Epoxy). Its images' tag moves: production pins digests through `spec.images`. */
export const epoxy = defineRelease({ name: '2025.1', series: 'epoxy', from: [] });
