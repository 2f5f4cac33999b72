import { prefix } from '../running-cloud.ts';

/** What a cloud has, as far as tempest asks for it. */
export interface Facts {
  readonly authUrl: string;
  readonly password: string;
  readonly region: string;
  /** Ids of two images, of two flavors of which the second has more memory, and of the network outside. */
  readonly images: readonly [string, string];
  readonly flavors: readonly [string, string];
  readonly network: { readonly id: string; readonly name: string };
  /** Aliases of the extensions that Neutron announces. */
  readonly extensions: readonly string[];
  /** Disk formats that Glance takes. */
  readonly diskFormats: readonly string[];
  /** The newest microversion that Nova has: tempest's tests of newer ones are of later releases. */
  readonly computeMicroversion: string;
  /** Types of the services in the catalogue. */
  readonly services: readonly string[];
  /** Of Cinder, where there is one. */
  readonly volumes?: Volumes;
  /** What Swift says that it can (`/info`), where there is one. */
  readonly objectFeatures?: readonly string[];
  /** Whether Ceph's gateway keeps the objects, in Swift's place. */
  readonly hasGateway?: boolean;
}

/** What Cinder has, as far as tempest asks for it. */
export interface Volumes {
  /** The newest microversion that it has. */
  readonly microversion: string;
  /** Of its first pool, as its driver says them: `ceph` and `Open Source` of RBD. */
  readonly storageProtocol: string;
  readonly vendorName: string;
  readonly hasBackup: boolean;
  /** Name of the type of volumes that several servers may have at a time. */
  readonly typeOfSeveral: string;
}

/** Tempest's suites of the services that it knows, by their types in the catalogue. */
const suites: Readonly<Record<string, string>> = {
  identity: 'identity',
  image: 'image',
  network: 'network',
  compute: 'compute',
  'block-storage': 'volume',
  'object-store': 'object_storage',
};

/** A regular expression of the tests of the services that a cloud has: by default, of all that tempest knows. */
export function testsOf(services: readonly string[] = Object.keys(suites)): string {
  const names = Object.entries(suites).flatMap(([type, suite]) => (services.includes(type) ? [suite] : []));
  return String.raw`^tempest\.api\.(${names.join('|')})\.`;
}

type Value = string | number | boolean;
type Sections = Readonly<Record<string, Readonly<Record<string, Value>>>>;

function volumeSections({ microversion, storageProtocol, vendorName, hasBackup, typeOfSeveral }: Volumes): Sections {
  const isCeph = storageProtocol === 'ceph';
  return {
    volume: {
      min_microversion: '3.0',
      max_microversion: microversion,
      storage_protocol: storageProtocol,
      vendor_name: vendorName,
      volume_type_multiattach: typeOfSeveral,
      // Other formats are converted by root, which only backends with rootHelpers have.
      disk_format: 'raw',
      // What RBD calls the snapshots of a volume.
      ...(isCeph ? { manage_snapshot_ref: 'source-name,snapshot-%s' } : {}),
    },
    'volume-feature-enabled': {
      backup: hasBackup,
      extend_attached_volume: true,
      manage_volume: isCeph,
      manage_snapshot: isCeph,
      // Between backends volumes are copied by root as well.
      multi_backend: false,
    },
  };
}

/**
 * The text of a tempest.conf. What a test needs and the cloud does not offer, tempest skips by itself; each `false` here
 * says why.
 */
export function tempestConfiguration(facts: Facts, directory: string): string {
  const has = (type: string) => facts.services.includes(type);
  const sections: Sections = {
    DEFAULT: {
      log_file: `${directory}/tempest.log`,
      use_stderr: false,
      // What a run that was killed has left is found by its name.
      // Short: Nova makes host names of more than 63 characters of the longest names with a number, which Neutron refuses.
      resource_name_prefix: `${prefix}t`,
    },
    oslo_concurrency: { lock_path: `${directory}/locks` },
    auth: {
      use_dynamic_credentials: true,
      admin_username: 'admin',
      admin_password: facts.password,
      admin_project_name: 'admin',
      admin_domain_name: 'Default',
    },
    identity: { uri_v3: facts.authUrl, auth_version: 'v3', region: facts.region, v3_endpoint_type: 'public' },
    service_available: {
      cinder: has('block-storage'),
      swift: has('object-store'),
      horizon: false, // a dashboard, not in the catalogue
      glance: has('image'),
      neutron: has('network'),
      nova: has('compute'),
    },
    compute: {
      image_ref: facts.images[0],
      image_ref_alt: facts.images[1],
      flavor_ref: facts.flavors[0],
      flavor_ref_alt: facts.flavors[1],
      hypervisor_type: 'QEMU',
      min_microversion: '2.1',
      max_microversion: facts.computeMicroversion,
      min_compute_nodes: 1,
      build_timeout: 300,
    },
    'compute-feature-enabled': {
      resize: true,
      vnc_console: true,
      stable_rescue: true,
      volume_multiattach: facts.volumes !== undefined,
      // The cloud has one node.
      cold_migration: false,
      live_migration: false,
      shelve_migrate: false,
      can_migrate_between_any_hosts: false,
      // The test machines have no device mapper.
      attach_encrypted_volume: false,
      // The images of the servers have no guest agent.
      change_password: false,
      // The machine type of the guests (q35) has no IDE.
      ide_bus: false,
    },
    image: { disk_formats: facts.diskFormats.join(',') },
    network: {
      public_network_id: facts.network.id,
      floating_network_name: facts.network.name,
      // The physical network has no other segments than this.
      shared_physical_network: false,
    },
    'network-feature-enabled': {
      api_extensions: facts.extensions.join(','),
      ipv6_subnet_attributes: true,
      port_security: facts.extensions.includes('port-security'),
    },
    ...(facts.volumes && volumeSections(facts.volumes)),
    ...(facts.objectFeatures && {
      'object-storage-feature-enabled': {
        discoverable_apis: facts.objectFeatures.join(','),
        // As it was before there were realms: it asks for another cluster.
        container_sync: facts.objectFeatures.includes('container_sync'),
        object_versioning: facts.objectFeatures.includes('versioned_writes'),
      },
    }),
    // Guests have no SSH server: what passes in and out of them, test/cloud looks at.
    validation: { run_validation: false },
    // What the services' policies say by default.
    enforce_scope: { nova: true, neutron: true, glance: true, keystone: true, placement: true },
  };
  return Object.entries(sections)
    .map(([section, options]) =>
      [`[${section}]`, ...Object.entries(options).map(([name, value]) => `${name} = ${String(value)}`), ''].join('\n'),
    )
    .join('\n');
}
