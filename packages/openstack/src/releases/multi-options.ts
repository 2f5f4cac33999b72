/**
 * Options that may be given many times (oslo.config's MultiOpt): one line for each value. Every other list is one line.
 * Source: the option definitions of the 2025.1 services and oslo libraries.
 */
export const multiOptions: Readonly<Record<string, readonly string[]>> = {
  DEFAULT: ['dhcpbridge_flagfile', 'location_strategy'],
  api: ['vendordata_dynamic_targets'],
  filter_scheduler: ['available_filters'],
  oslo_messaging_notifications: ['driver'],
  oslo_policy: ['policy_dirs'],
  pci: ['alias', 'device_spec'],
  service_providers: ['service_provider'],
};
