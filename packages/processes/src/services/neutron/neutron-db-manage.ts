import { chosenHeads, type ManageProgram, upgrade } from '../../model/manage.ts';
import { Database } from '../../oslo/database.ts';
import type { ProjectDatabase } from '../../oslo/project-database.ts';
import { SystemExit } from '../../oslo/python-error.ts';
import { startTimes } from '../../start-times.ts';

/** Neutron 26: the expand and contract branches. */
export const neutronDatabase: ProjectDatabase = {
  heads: ['ad80a9f07c5c', '5c85685d616d'],
  tables:
    'agents networks ports subnets routers securitygroups standardattributes ml2_port_bindings ml2_geneve_allocations ml2_geneve_endpoints ovn_hash_ring ovn_revision_numbers provisioningblocks quotas',
};

/** `neutron-db-manage`. */
export const neutronDbManage: ManageProgram = {
  takes: startTimes.neutronDbManage.start,
  commands: {
    upgrade: {
      flags: 'expand contract verbose sql split_branches',
      values: 'subproject delta',
      run: async (context, [revision]) => {
        const { process, line } = context;
        if (revision === undefined && !line.has('expand') && !line.has('contract'))
          throw new SystemExit(1, 'ERROR: You must provide a revision or relative delta');
        process.stdout('  Running upgrade for neutron ...\n');
        const takes = startTimes.neutronDbManage.upgrade;
        const heads = chosenHeads(context, neutronDatabase);
        await upgrade(context, new Database(context), neutronDatabase, { takes, heads });
        process.stdout('  OK\n');
      },
    },
  },
};
