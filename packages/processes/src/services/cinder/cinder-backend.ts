import type { Config } from '../../oslo/config.ts';

/** An option of a backend: of its section, else of what all share (cinder.volume.configuration, SHARED_CONF_GROUP). */
export const backendOption = (config: Config, section: string, option: string): string =>
  config.optional(section, option) ?? config.text('backend_defaults', option);
