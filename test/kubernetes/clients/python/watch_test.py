from case import Case
from kubernetes import watch


class Watch(Case):
    def test_events_from_a_version_on(self):
        listed = self.core.list_namespaced_config_map(self.namespace)
        self.config_map("settings", color="blue")
        self.core.patch_namespaced_config_map("settings", self.namespace, {"data": {"color": "red"}})
        self.core.delete_namespaced_config_map("settings", self.namespace)
        seen, stream = [], watch.Watch()
        for event in stream.stream(
            self.core.list_namespaced_config_map,
            self.namespace,
            label_selector="made=here",
            resource_version=listed.metadata.resource_version,
            timeout_seconds=20,
        ):
            seen.append((event["type"], event["object"].data))
            if event["type"] == "DELETED":
                stream.stop()
        self.assertEqual(
            seen, [("ADDED", {"color": "blue"}), ("MODIFIED", {"color": "red"}), ("DELETED", {"color": "red"})]
        )

    def test_resumes_where_it_was(self):
        self.config_map("first")
        stream = watch.Watch()
        selection = {"label_selector": "made=here", "timeout_seconds": 20}
        for event in stream.stream(self.core.list_namespaced_config_map, self.namespace, **selection):
            stream.stop()
        self.config_map("second")
        names = []
        for event in stream.stream(
            self.core.list_namespaced_config_map, self.namespace, resource_version=stream.resource_version, **selection
        ):
            names.append(event["object"].metadata.name)
            stream.stop()
        self.assertEqual(names, ["second"])

    def test_ends_at_its_time_out(self):
        events = watch.Watch().stream(self.core.list_namespaced_secret, self.namespace, timeout_seconds=1)
        self.assertEqual([event["object"].metadata.name for event in events], [])

    def test_waits_for_a_pod_and_reads_its_log(self):
        self.pod("talker", "once", "one", "two")
        stream = watch.Watch()
        for event in stream.stream(self.core.list_namespaced_pod, self.namespace, timeout_seconds=20):
            if event["object"].status.phase == "Succeeded":
                stream.stop()
        self.assertEqual(self.core.read_namespaced_pod_log("talker", self.namespace), "one\ntwo\n")
        self.assertEqual(self.core.read_namespaced_pod_log("talker", self.namespace, tail_lines=1), "two\n")

    def test_follows_a_log(self):
        self.pod("talker", "once", "one", "two")
        stream = watch.Watch()
        for event in stream.stream(self.core.list_namespaced_pod, self.namespace, timeout_seconds=20):
            if event["object"].status.phase == "Succeeded":
                stream.stop()
        lines = watch.Watch().stream(self.core.read_namespaced_pod_log, "talker", self.namespace)
        self.assertEqual(list(lines), ["one", "two"])
