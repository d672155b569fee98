print("needletail")
