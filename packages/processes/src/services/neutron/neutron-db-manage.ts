import { type ManageProgram, upgrade } from '../../model/manage.ts';
import type { CommandContext } from '../../model/program.ts';
import { Database } from '../../oslo/database.ts';
import { type ProjectDatabase, revisionsOf } from '../../oslo/project-database.ts';
import { SystemExit } from '../../oslo/python-error.ts';
import { startTimes } from '../../start-times.ts';

const [expand, contract] = ['ad80a9f07c5c', '5c85685d616d'];

/** Neutron 26: the expand and contract branches. */
export const neutronDatabase: ProjectDatabase = {
  heads: [expand, contract],
  tables:
    'agents networks ports subnets routers securitygroups standardattributes ml2_port_bindings ml2_geneve_allocations ml2_geneve_endpoints ovn_hash_ring ovn_revision_numbers provisioningblocks quotas',
};

const everywhere = { flags: 'expand contract verbose sql split_branches', values: 'subproject delta' };

/** `neutron-db-manage`. */
export const neutronDbManage: ManageProgram = {
  takes: startTimes.neutronDbManage.start,
  commands: {
    upgrade: {
      ...everywhere,
      run: async (context, [revision]) => {
        const { process, line } = context;
        if (revision === undefined && !line.has('expand') && !line.has('contract'))
          throw new SystemExit(1, 'ERROR: You must provide a revision or relative delta');
        const heads = line.has('expand') ? [expand] : line.has('contract') ? [contract] : neutronDatabase.heads;
        process.stdout('  Running upgrade for neutron ...\n');
        const takes = startTimes.neutronDbManage.upgrade;
        await upgrade(context, new Database(context), neutronDatabase, { takes, heads });
        process.stdout('  OK\n');
        return 0;
      },
    },
    current: {
      ...everywhere,
      run: async (context) => {
        const found = await revisionsIn(context);
        context.process.stdout(`  Running current for neutron ...\n${found.join('\n')}\n  OK\n`);
        return 0;
      },
    },
    has_offline_migrations: {
      ...everywhere,
      run: async (context) => {
        const found = await revisionsIn(context);
        return found.includes(contract) || found.length === 0 ? 0 : 1;
      },
    },
  },
};

function revisionsIn(context: CommandContext): Promise<string[]> {
  return new Database(context).transaction('SELECT', revisionsOf);
}
