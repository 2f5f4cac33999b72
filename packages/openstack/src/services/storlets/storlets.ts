import { defineService } from '../../engine/vocabulary/service.ts';
import { refusedBy } from '../backends.ts';
import { pipeline } from '../swift/configuration.ts';
import { isGateway } from '../swift/gateway.ts';
import { Storlets } from './kind.ts';

const filter = 'storlet_handler';

/** Computing inside object storage: a filter of the proxies of Swift, and nothing that runs by itself. */
export const storlets = defineService<Storlets>({
  kind: Storlets,
  child: {
    field: 'storlets',
    phase: 'ExtendedServices',
    description: 'Computing inside object storage.',
    optional: true,
  },
  name: 'storlets',
  user: 'swift',
  dependsOn: { swiftRef: 'start' },
  configures: {
    swift: ({ context }) =>
      isGateway(context.spec)
        ? {}
        : {
            'proxy-server.conf': {
              // Where storlets see large objects whole. Behind copy, as upstream's guide has it, copies end with 413: copy wants the
              // length of what it is given, which nobody knows before a storlet has run (storlets 15, Swift 2.35.1).
              'pipeline:main': {
                pipeline: pipeline.flatMap((one) => (one === 'copy' ? [filter, one] : [one])).join(' '),
              },
              [`filter:${filter}`]: {
                use: `egg:storlets#${filter}`,
                execution_server: 'proxy',
                storlet_gateway_module: 'stub',
                // Object servers have no such filter.
                storlet_execute_on_proxy: true,
              },
            },
          },
  },
  components: () => ({}),
  problems: (context) => {
    const swift = context.reference('swiftRef');
    return refusedBy(
      isGateway(swift?.['spec'] ?? {})
        ? [
            `spec.swiftRef: Swift ${swift?.metadata.name} is of mode ceph-rgw, whose gateway runs no storlets; name one of mode native, or remove the Storlets`,
          ]
        : [],
    );
  },
});
