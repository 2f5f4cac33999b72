"""What the tests have in common: the client, and a namespace of their own."""

import itertools
import os
import unittest

from kubernetes import client, config

numbers = itertools.count()
config.load_kube_config()


class Case(unittest.TestCase):
    def setUp(self):
        self.core = client.CoreV1Api()
        self.apps = client.AppsV1Api()
        self.namespace = f"python-{os.getpid()}-{next(numbers)}"
        self.core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=self.namespace)))
        self.addCleanup(self.core.delete_namespace, self.namespace)

    def config_map(self, name, **data):
        metadata = client.V1ObjectMeta(name=name, labels={"made": "here"})
        return self.core.create_namespaced_config_map(self.namespace, client.V1ConfigMap(metadata=metadata, data=data))

    def pod(self, name, *command):
        container = client.V1Container(name="app", image="example.com/app:1", command=list(command) or None)
        spec = client.V1PodSpec(containers=[container], restart_policy="Never")
        return self.core.create_namespaced_pod(
            self.namespace, client.V1Pod(metadata=client.V1ObjectMeta(name=name), spec=spec)
        )

    def refused(self, status, call, *arguments, **options):
        """The ApiException of a call that is to be refused with this HTTP status."""
        with self.assertRaises(client.ApiException) as caught:
            call(*arguments, **options)
        self.assertEqual(caught.exception.status, status)
        return caught.exception
