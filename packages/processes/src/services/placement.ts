import { json } from '../http.ts';
import { type Row, rowsOf, type Schema } from '../infrastructure/mysql-protocol.ts';
import { versions } from '../model/api.ts';
import { migrated, revisions, says, sync, upgradeCheck } from '../model/manage.ts';
import { model } from '../model/model.ts';
import { database } from '../model/wsgi.ts';
import type { ProjectDatabase } from '../oslo/project-database.ts';
import { startTimes } from '../start-times.ts';

const { start: takes, dbSync } = startTimes.placementManage;
const store: ProjectDatabase = {
  group: 'placement_database',
  heads: ['a082b8bb98d0'],
  tables:
    'allocations consumers consumer_types inventories placement_aggregates projects resource_classes resource_provider_aggregates resource_provider_traits resource_providers traits users',
};

/** Providers of one of the aggregates that a query asks for, if any. */
function membersOf(schema: Schema, query: URLSearchParams): Row[] {
  const wanted = query.get('member_of')?.replace('in:', '').split(',');
  return rowsOf(schema, 'resource_providers').filter(
    (row) => wanted === undefined || ((row['aggregates'] ?? []) as string[]).some((one) => wanted.includes(one)),
  );
}

/** Placement 13: writes traits and resource classes down when it starts. */
export const placement = model({
  project: 'placement',
  images: { 'placement-api': { root: true } },
  programs: {
    'placement-manage': {
      takes,
      commands: {
        'db sync': sync(store, dbSync),
        'db version': revisions(store),
        'db online_data_migrations': says('Running batches of 50 until complete', { values: 'max-count' }),
      },
    },
    'placement-status': { takes, commands: { 'upgrade check': upgradeCheck({ Migrations: migrated(store) }) } },
  },
  applications: {
    'placement.wsgi.api:application': {
      takes: startTimes.placementApi,
      connects: [database(store, 'traits resource_classes resource_providers inventories')],
      serves: {
        open: { '/': versions(200, 'v1.0') },
        unauthenticated: (config) => config.text('api', 'auth_strategy') === 'noauth2',
        policy: { roles: ['admin', 'service'], rule: 'placement:resource_providers:list' },
        words: {
          body: ({ status, title, message }) => ({ errors: [{ status, title, detail: message }] }),
          notFound: (_item, id) => `No resource provider with uuid ${id} found`,
          conflict: (_item, { name }) => `Conflicting resource provider name: ${String(name)} already exists.`,
        },
        database: store,
        collections: [
          {
            path: 'resource_providers',
            id: 'uuid',
            created: 200,
            unique: [['name'], ['uuid']],
            generation: 'resource_provider_generation',
            parts: { inventories: {}, aggregates: [], traits: [] },
          },
          { path: 'allocations', id: 'consumer_uuid', replaced: { allocations: {} } },
          { path: 'traits', readOnly: true },
          { path: 'resource_classes', readOnly: true },
        ],
        routes: {
          // Any other request is the collection's.
          resource_providers: ({ store, query }) =>
            query.has('member_of')
              ? store((schema) => json(200, { resource_providers: membersOf(schema, query) }))
              : undefined,
          allocation_candidates: ({ store, query }) =>
            store((schema) => {
              const rows = membersOf(schema, query).filter((row) => 'inventories' in row);
              return json(200, { provider_summaries: Object.fromEntries(rows.map(({ uuid }) => [uuid, {}])) });
            }),
        },
      },
    },
  },
});
