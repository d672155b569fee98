print("needletail-bench")
