import { SystemError } from '@openstack-operator/sandbox';
import type { ProjectDatabase } from '../../oslo/project-database.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { makeDirectories } from '../../program-support.ts';

export const tackerDatabase: ProjectDatabase = {
  heads: ['ca2ad037c320'],
  tables:
    'vims vimauths vnf vnf_attribute vnfd vnfd_attribute vnf_packages vnf_packages_user_data vnf_package_vnfd vnf_artifacts vnf_deployment_flavours vnf_software_images vnf_software_image_metadata vnf_instances vnf_instantiated_info vnf_resources vnf_lcm_subscriptions vnf_lcm_filters vnf_lcm_op_occs placement_constraint VnfInstanceV2 VnfLcmOpOccV2 LccnSubscriptionV2 GrantV1 GrantRequestV1 CryptKey',
};

/** The queue of conductors (tacker.common.topics). */
export const topic = 'TACKER_CONDUCTOR';

/**
 * Where packages are kept: the directory is made when the store is opened, and a store that cannot be written only refuses new
 * ones (glance_store.driver, `configure`).
 */
export function openStore({ process, config, log }: ServiceContext): string {
  const directory = config.text('glance_store', 'filesystem_store_datadir', '/var/lib/glance/images');
  try {
    makeDirectories(process, directory);
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    log.warning(
      'glance_store.driver',
      `Failed to configure store correctly: Store filesystem could not be configured correctly. Reason: Unable to create datadir: ${directory} Disabling add method.`,
    );
  }
  return directory;
}
