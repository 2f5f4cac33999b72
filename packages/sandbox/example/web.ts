import type { Image } from '@openstack-operator/sandbox';

/** The image `web:<tag>`: its program serves /srv/index.html at port 8080 until it is terminated. */
export const web: Image = {
  matches: (reference) => reference.startsWith('web:'),
  entrypoint: ['web'],
  programs: {
    web: async (process) => {
      const page = process.files.read('/srv/index.html');
      const receive = async () => ({ status: 200, body: page });
      process.network.listen(8080, 'http', () => ({ receive }));
      process.stdout('listening\n');
      await new Promise((resolve) => process.signal.addEventListener('abort', resolve));
      return 0;
    },
  },
};
