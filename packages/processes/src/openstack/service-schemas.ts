import type { Migrations } from '../oslo/migrations.ts';

const words = (text: string): string[] => text.trim().split(/\s+/);

/** Glance 30. */
export const glanceMigrations: Migrations = {
  heads: ['2024_1_expand01', '2024_1_contract01'],
  tables: words(
    'images image_locations image_members image_properties image_tags cached_images node_reference tasks task_info metadef_namespaces metadef_objects metadef_properties metadef_resource_types metadef_tags metadef_namespace_resource_types',
  ),
};

/** Placement 13. */
export const placementMigrations: Migrations = {
  heads: ['a082b8bb98d0'],
  tables: words(
    'allocations consumers consumer_types inventories placement_aggregates projects resource_classes resource_provider_aggregates resource_provider_traits resource_providers traits users',
  ),
};

/** Neutron 26: the expand and contract branches. */
export const neutronMigrations: Migrations = {
  heads: ['ad80a9f07c5c', '5c85685d616d'],
  tables: words(
    'agents networks ports subnets routers securitygroups standardattributes ml2_port_bindings ml2_geneve_allocations ml2_geneve_endpoints ovn_hash_ring ovn_revision_numbers provisioningblocks quotas',
  ),
};

/** Nova 31, the API database. */
export const novaApiMigrations: Migrations = {
  heads: ['cdeec0c85668'],
  tables: words(
    'aggregates aggregate_hosts aggregate_metadata allocations build_requests cell_mappings flavors flavor_extra_specs flavor_projects host_mappings instance_group_member instance_groups instance_mappings inventories key_pairs project_user_quotas quota_classes quotas request_specs resource_providers',
  ),
};

/** Nova 31, a cell's database (cell0 too). */
export const novaMigrations: Migrations = {
  heads: ['2903cd72dc14'],
  tables: words(
    'services compute_nodes instances instance_info_caches instance_faults migrations block_device_mapping console_auth_tokens instance_actions instance_extra instance_metadata instance_system_metadata tags task_log virtual_interfaces',
  ),
};
