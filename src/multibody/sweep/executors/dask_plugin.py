"""The plugin that gives a study to all workers of a Dask cluster, now and in future."""

from distributed import Worker, WorkerPlugin

from multibody.sweep.executors import dask_worker


class StudyPlugin(WorkerPlugin):
    """Keeps a packed study on a worker."""

    def __init__(self, name: str, packed_job: bytes) -> None:
        self.name, self.packed_job = name, packed_job

    def setup(self, worker: Worker) -> None:
        del worker
        dask_worker.receive(self.name, self.packed_job)

    def teardown(self, worker: Worker) -> None:
        del worker
        dask_worker.forget(self.name)
