import type { Config } from '../../oslo/config.ts';

/** Service plugin -> extensions that it brings (`supported_extension_aliases` of Neutron 26; the telling ones). */
const ofPlugins: Readonly<Record<string, readonly string[]>> = {
  'ovn-router': ['router', 'extraroute', 'ext-gw-mode', 'dvr'],
  router: ['router', 'extraroute', 'ext-gw-mode', 'l3-ha'],
  qos: ['qos', 'qos-bw-limit-direction', 'qos-default', 'qos-rule-type-details'],
  trunk: ['trunk', 'trunk-details'],
  port_forwarding: ['floating-ip-port-forwarding', 'expose-port-forwarding-in-fip'],
  segments: ['segment', 'ip_allocation', 'l2_adjacency', 'standard-attr-segment'],
  log: ['logging'],
};

/** Aliases of the API's extensions, as `GET /v2.0/extensions` lists them. */
export function extensionsOf(config: Config): string[] {
  const drivers = config.list('ml2', 'extension_drivers');
  return [
    'agent',
    'provider',
    'quotas',
    ...(config.boolean('securitygroup', 'enable_security_group') ? ['security-group'] : []),
    ...(drivers.includes('port_security') ? ['port-security'] : []),
    ...config.list('DEFAULT', 'service_plugins').flatMap((name) => ofPlugins[name] ?? []),
  ];
}
